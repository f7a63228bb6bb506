import type { ScalarTag } from 'yaml';

const BASES: Readonly<Record<string, number>> = { x: 16, o: 8, b: 2 };

/**
 * Plain words and numbers that YAML 1.2 reads as text or otherwise, and that kubectl and Helm read as YAML 1.1 does:
 * `yes` is true and `0644` is octal. Values must mean here what they mean there.
 */
export const SCALARS_AS_IN_HELM: ScalarTag[] = [
  {
    tag: 'tag:yaml.org,2002:bool',
    default: true,
    test: /^(?:y|Y|yes|Yes|YES|on|On|ON|n|N|no|No|NO|off|Off|OFF)$/,
    resolve: (text) => /^(?:y|yes|on)$/i.test(text),
  },
  {
    tag: 'tag:yaml.org,2002:int',
    default: true,
    test: /^[-+]?0(?:_*[0-7][0-7_]*|[oO][0-7_]*[0-7][0-7_]*|[xX][0-9a-fA-F_]*[0-9a-fA-F][0-9a-fA-F_]*|[bB][01_]*[01][01_]*)$/,
    resolve: (text) => {
      const [, sign, base = '', digits = ''] =
        /^([-+]?)0([xob]?)(.*)$/.exec(text.replaceAll('_', '').toLowerCase()) ?? [];
      return Number.parseInt(digits, BASES[base] ?? 8) * (sign === '-' ? -1 : 1);
    },
  },
  {
    tag: 'tag:yaml.org,2002:float',
    default: true,
    test: /^[-+]?[0-9][0-9_]*_[0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?$|^[-+]?[0-9]+\.[0-9_]*_[0-9_]*(?:[eE][-+]?[0-9]+)?$/,
    resolve: (text) => Number(text.replaceAll('_', '')),
  },
];
