import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placedFault } from './fault-place.ts';

const FILES = ['a.yaml', 'sub/a.yaml', '_lib.tpl', 'x (1).yaml'];

for (const [told, expected] of [
  ['parse error at (a.yaml:5): function "no" not defined', 'a.yaml:5:1: function "no" not defined'],
  [
    "parse error at (a.yaml:5): bad character U+002D '-'",
    'a.yaml:5:1: bad character U+002D \'-\': a name with a dash is read by {{ index . "my-name" }}',
  ],
  ['execution error at (sub/a.yaml:4:13): mode must be: a or b', 'sub/a.yaml:4:13: mode must be: a or b'],
  [
    'a.yaml:4:15 executing "a.yaml" at <.x.y.z>: nil pointer evaluating interface {}.y',
    'a.yaml:4:15: <.x.y.z>: nil pointer evaluating interface {}.y: give it a default under parameters, or ask inside of {{ with }}',
  ],
  [
    'a.yaml:4:13 executing "a.yaml" at <include "l" .>: error calling include: _lib.tpl:2:5 executing "l" at <fail "no">: error calling fail: no',
    '_lib.tpl:2:5: <fail "no">: error calling fail: no',
  ],
  [
    "YAML parse error on x (1).yaml: error converting YAML to JSON: yaml: line 5: did not find expected ',' or '}'",
    "x (1).yaml:1:1: line 5 of what it renders is not valid YAML: did not find expected ',' or '}'",
  ],
  [
    'YAML parse error on a.yaml: line 7: duplicated mapping key',
    'a.yaml:1:1: line 7 of what it renders is not valid YAML: duplicated mapping key',
  ],
  [
    'YAML parse error on a.yaml: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type util.SimpleHead',
    'a.yaml:1:1: what it renders is no Kubernetes object but a list',
  ],
  [
    'sub/a.yaml has no valid apiVersion',
    'sub/a.yaml:1:1: has no valid apiVersion: each .yaml file is a manifest; what .Files.Get reads has another ending (x.yaml.txt)',
  ],
  [
    'ConfigMap b is declared twice: a.yaml and sub/a.yaml',
    'a.yaml:1:1: ConfigMap b is declared twice: a.yaml and sub/a.yaml: give one of the two another name, or remove it',
  ],
  ['helm needed more than 1024 MiB of memory', '.:1:1: helm needed more than 1024 MiB of memory'],
] as const)
  test(`"${told.slice(0, 60)}" is told with its place`, () => {
    const { file, line, column, message } = placedFault(told, FILES);
    assert.equal(`${file}:${line}:${column}: ${message}`, expected);
  });
