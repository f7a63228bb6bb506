import type { ChartYaml } from '../charts/chart-yaml.ts';
import { parseImage } from '../images/name.ts';
import { faultOf, MOST_FAULTS, type PackageFault } from './fault.ts';
import { EXPANSION_FILE, type Expansion, type ListField, type ReadExpansion, readExpansion } from './format.ts';
import type { NamedImage } from './images-index.ts';
import { fullImage, whyUnsafe } from './names.ts';
import { SUMS_FILE, verifySums } from './sums.ts';

export const IMAGES_FILE = 'images.tar.gz';
export const HOOKS = ['pre-install', 'post-install', 'post-cluster-ready'] as const;

/** What a package holds, as it was read once from its beginning to its end. */
export interface Contents {
  /** What expansion.yaml says. */
  text: Uint8Array | undefined;
  /** Every file with its size and SHA-256: '' of one that was passed by unread. */
  files: Map<string, { size: number; sha256: string }>;
  /** The images in the archive; undefined without one that can be read. */
  images: NamedImage[] | undefined;
  /** What the charts that load say of themselves, by their paths. */
  charts: Map<string, ChartYaml>;
  sums: string | undefined;
  /** What was wrong with single files. */
  faults: PackageFault[];
  /** It was cut off or damaged: what is missing may be behind that place. */
  cutOff: boolean;
}

export interface Verified {
  expansion: Expansion;
  faults: PackageFault[];
}

const TEMPLATE = '.tmpl';

/** Where the materials of a list are. */
const FOLDERS = { charts: 'charts', files: 'files', hooks: 'hooks', provider: 'provider' } as const;

/** Everything that is wrong with a package, in the order of files and lines. */
export function verifyPackage(
  contents: Contents,
  images: 'with images' | 'images elsewhere' = 'with images',
): Verified {
  const { text, files, cutOff } = contents;
  const read = readExpansion(text ?? '{}');
  const { expansion } = read;
  const own = [...contents.faults, ...read.faults];
  if (text === undefined && !files.has(EXPANSION_FILE) && !cutOff) own.push(faultOf(EXPANSION_FILE, whyMissing(files)));
  const sums = contents.sums === undefined || cutOff ? [] : verifySums(contents.sums, files);
  // Of a text that says nothing all the rest would be "not listed": noise around the one thing that is wrong.
  const rest =
    text === undefined || !read.isReadable
      ? []
      : [...verifyImages(read, contents, images), ...verifyCharts(contents), ...verifyListed(read, contents)];
  return { expansion, faults: inOrder([...own, ...sums, ...rest]) };
}

function whyMissing(files: Contents['files']): string {
  const deeper = [...files.keys()].find((path) => path.endsWith(`/${EXPANSION_FILE}`));
  const why = 'is missing: it belongs to the top';
  if (deeper === undefined) return `${why}; \`espalier expansion new\` writes one`;
  return `${why}, and here is ${deeper.slice(0, 200)}; pack what is in that folder, not the folder`;
}

/** What is listed is there and can be, under names that are safe; and nothing else is there. */
function verifyListed(read: ReadExpansion, { files, cutOff }: Contents): PackageFault[] {
  const { expansion, at } = read;
  const faults: PackageFault[] = [];
  const listed = new Set([EXPANSION_FILE, SUMS_FILE]);
  if (expansion.images.length > 0) listed.add(IMAGES_FILE);
  for (const [field, folder] of Object.entries(FOLDERS) as [keyof typeof FOLDERS, string][]) {
    const names = new Set(expansion[field]);
    for (const [index, name] of expansion[field].entries()) {
      if (name === '') continue;
      const path = `${folder}/${name}`;
      listed.add(path);
      const wrong =
        wrongName(field, name) ??
        (field !== 'charts' && names.has(`${name}${TEMPLATE}`)
          ? `is there twice, as it is and as ${name}${TEMPLATE}: remove one`
          : undefined) ??
        (cutOff || files.has(path) ? undefined : `is missing: put it at ${path}, or remove it from the list`);
      if (wrong !== undefined && faults.length <= MOST_FAULTS)
        faults.push({ file: EXPANSION_FILE, ...at(field, index), message: `${field}: ${quoted(name)} ${wrong}` });
    }
  }
  for (const path of files.keys()) {
    const parent = foldersOf(path).find((folder) => files.has(folder));
    if (parent !== undefined) faults.push(faultOf(path, `is in ${parent}, which is a file: remove one of them`));
    if (!listed.has(path))
      faults.push(faultOf(path, `is not listed in ${EXPANSION_FILE}: list it there, or remove it`));
  }
  return faults;
}

function foldersOf(path: string): string[] {
  return [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index));
}

/** By files and lines. Of more than anybody reads, those of expansion.yaml before others. */
function inOrder(faults: readonly PackageFault[]): PackageFault[] {
  if (faults.length <= MOST_FAULTS) return faults.toSorted(byPlace);
  const isFirst = ({ file }: PackageFault): number => (file === EXPANSION_FILE ? 0 : 1);
  const told = faults.toSorted((a, b) => isFirst(a) - isFirst(b) || byPlace(a, b)).slice(0, MOST_FAULTS);
  return [...told, faultOf('.', `there is more than these ${MOST_FAULTS} faults: correct them, and check again`)];
}

function wrongName(field: keyof typeof FOLDERS, name: string): string | undefined {
  const unsafe = whyUnsafe(name);
  if (unsafe !== undefined) return unsafe;
  if ((field === 'charts' || field === 'hooks') && name.includes('/'))
    return `has a / in its name: put it straight into ${field}/ and list its name alone`;
  if (field !== 'charts' && /(^|\/)\.tmpl$/.test(name)) return `is ${TEMPLATE} alone: put a name before it`;
  if (field === 'charts' && !name.endsWith('.tgz')) return 'is no .tgz: pack the chart with `helm package`';
  if (field === 'hooks' && !HOOKS.some((hook) => name === hook || name === `${hook}.tmpl`))
    return `is no hook: there are ${HOOKS.join(', ')}`;
  return undefined;
}

/** Repositories know a chart by its name and version alone. */
function verifyCharts({ charts }: Contents): PackageFault[] {
  const known = new Map<string, string>();
  return [...charts].flatMap(([path, { name, version }]) => {
    const other = known.get(`${name} ${version}`);
    known.set(`${name} ${version}`, path);
    return other === undefined ? [] : faultOf(path, `is ${name} ${version}, and so is ${other}: keep one of them`);
  });
}

function verifyImages(
  { expansion, at }: ReadExpansion,
  { files, images, cutOff }: Contents,
  where: 'with images' | 'images elsewhere',
): PackageFault[] {
  const faults: PackageFault[] = [];
  const fault = (message: string, field: ListField | 'operator', index?: number): void => {
    faults.push({ file: EXPANSION_FILE, ...at(field, index), message });
  };
  const { operator } = expansion;
  if (operator !== undefined && parseImage(operator) === undefined)
    fault(`operator: ${quoted(operator)} is no image: write one such as demo/operator:v1`, 'operator');
  const there = images === undefined ? undefined : new Set(images.map(({ name }) => name));
  if (
    there === undefined &&
    where === 'with images' &&
    expansion.images.length > 0 &&
    !expansion.images_loaded &&
    !files.has(IMAGES_FILE) &&
    !cutOff
  )
    fault(`${IMAGES_FILE} is missing: save the images into it, or say images_loaded: true`, 'images');
  for (const [index, image] of expansion.images.entries()) {
    if (image === '') continue;
    if (parseImage(image) === undefined)
      fault(`images: ${quoted(image)} is no image: write one such as demo/alpine:3.10`, 'images', index);
    else if (there !== undefined && !there.has(fullImage(image)))
      fault(
        `images: ${quoted(image)} is not in ${IMAGES_FILE}: save it there with its name and tag, or remove it from the list`,
        'images',
        index,
      );
  }
  const listed = new Set(expansion.images.map(fullImage));
  for (const image of there ?? [])
    if (!listed.has(image))
      faults.push(
        faultOf(
          IMAGES_FILE,
          `holds ${quoted(image)}, which is not listed in ${EXPANSION_FILE}: list it, or save the archive without it`,
        ),
      );
  return faults;
}

function quoted(name: string): string {
  return JSON.stringify(name.slice(0, 200));
}

function byPlace(a: PackageFault, b: PackageFault): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || a.column - b.column;
}
