import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ImageField } from './fields.ts';
import { findImages, imagesIn, mapImages } from './find.ts';

const toMirror = (image: string) => `mirror/${image}`;

describe('images in objects', () => {
  it('are found in any pod, with the way to each', () => {
    const cron = {
      kind: 'CronJob',
      spec: {
        jobTemplate: {
          spec: {
            template: {
              spec: {
                initContainers: [{ image: 'init' }],
                containers: [{ image: 'main' }, { name: 'none' }],
                ephemeralContainers: [{ image: 'debug' }],
                volumes: [{ image: { reference: 'data' } }],
              },
            },
          },
        },
      },
    };
    const pod = '/spec/jobTemplate/spec/template/spec';
    assert.deepEqual(findImages(cron), [
      { image: 'init', path: `${pod}/initContainers/0/image` },
      { image: 'main', path: `${pod}/containers/0/image` },
      { image: 'debug', path: `${pod}/ephemeralContainers/0/image` },
      { image: 'data', path: `${pod}/volumes/0/image/reference` },
    ]);
  });

  it('a way is a JSON pointer, whatever the names on it', () => {
    const [found] = findImages({ 'a/b~c': { containers: [{ image: 'x' }] } });
    assert.equal(found?.path, '/a~1b~0c/containers/0/image');
  });
});

describe('fields of other kinds', () => {
  const prometheus = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'Prometheus',
    spec: { image: 'quay.io/prometheus:1', containers: [{ image: 'side' }] },
  };
  const field = { apiVersion: 'monitoring.coreos.com/v1', kind: 'Prometheus', path: '/spec/image' };

  it('count where kind and version are those that are named', () => {
    assert.deepEqual(imagesIn(prometheus, [field]), ['quay.io/prometheus:1', 'side']);
    assert.deepEqual(imagesIn(prometheus, [{ ...field, apiVersion: 'monitoring.coreos.com/v1alpha1' }]), ['side']);
    assert.deepEqual(imagesIn({ ...prometheus, kind: 'Alertmanager' }, [field]), ['side']);
    assert.deepEqual(imagesIn(prometheus, [{ kind: 'Prometheus', path: '/spec/image' }]).length, 2);
  });

  it('are rewritten, and the object that was given is not changed', () => {
    const before = structuredClone(prometheus);
    const mapped = mapImages(prometheus, toMirror, [field]);
    assert.deepEqual(mapped.spec, { image: 'mirror/quay.io/prometheus:1', containers: [{ image: 'mirror/side' }] });
    assert.deepEqual(prometheus, before);
  });

  it('a field that is a container anyway is rewritten once', () => {
    const twice = { kind: 'X', spec: { containers: [{ image: 'a' }] } };
    const mapped = mapImages(twice, toMirror, [{ kind: 'X', path: '/spec/containers/*/image' }]);
    assert.equal(mapped.spec.containers[0]?.image, 'mirror/a');
  });

  it('* stands for every item of a list and of a map', () => {
    const cluster = {
      kind: 'C',
      spec: { nodes: [{ image: 'a' }, { image: 'b' }, 'odd'], roles: { x: { image: 'c' } } },
    };
    const fields: ImageField[] = [
      { kind: 'C', path: '/spec/nodes/*/image' },
      { kind: 'C', path: '/spec/roles/*/image' },
    ];
    assert.deepEqual(
      findImages(cluster, fields).map(({ image, path }) => `${path} ${image}`),
      ['/spec/nodes/0/image a', '/spec/nodes/1/image b', '/spec/roles/x/image c'],
    );
  });

  describe('with registry, tag and digest beside the name', () => {
    const split: ImageField = { kind: 'C', path: '/image/name', registry: 'registry', tag: 'tag', digest: 'sha' };

    it('are one image, and the name alone changes', () => {
      const object = { kind: 'C', image: { registry: 'quay.io', name: 'team/app', tag: 'v1', sha: 'sha256:00' } };
      assert.deepEqual(imagesIn(object, [split]), ['quay.io/team/app:v1@sha256:00']);
      assert.deepEqual(mapImages(object, toMirror, [split]).image, {
        registry: 'mirror',
        name: 'quay.io/team/app',
        tag: 'v1',
        sha: 'sha256:00',
      });
    });

    it('without a registry beside it the name takes it all', () => {
      const object = { kind: 'C', image: { name: 'quay.io/app', tag: 'v1' } };
      assert.deepEqual(mapImages(object, toMirror, [split]).image, { name: 'mirror/quay.io/app', tag: 'v1' });
    });
  });

  it('what is no text, and what is not there, is no image', () => {
    const fields: ImageField[] = [
      { kind: 'C', path: '/a' },
      { kind: 'C', path: '/b/c' },
      { kind: 'C', path: '/__proto__/x' },
    ];
    assert.deepEqual(imagesIn({ kind: 'C', a: 7, b: null }, fields), []);
  });
});
