/** Generates the page of package sizes, and the size line of each README. */
import { NEUTRAL_ENTRY_POINTS } from '../packages/neutral-entry-points.ts'
import type { PackageSize, PackageSizes } from '../packages/sizes.ts'

/** Returns the text of `docs/reference/packages.md`. */
export function packagesPage(sizes: PackageSizes): string {
  const packages = Object.entries(sizes).map(([name, size]) =>
    row([
      `\`${name}\``,
      shownBytes(size.packedBytes),
      String(size.otherPackages),
      shownBytes(size.installedBytes),
    ]),
  )
  const entryPoints = Object.values(sizes).flatMap((size) =>
    Object.entries(size.entryPoints).map(([entryPoint, bytes]) =>
      row([
        `\`${entryPoint}\``,
        shownBytes(bytes),
        NEUTRAL_ENTRY_POINTS.has(entryPoint)
          ? 'browsers too, with all it needs'
          : 'Node, our code alone',
      ]),
    ),
  )
  return [
    '<!-- Written by tooling/checks/sizes.ts from the packed packages; do not edit. -->',
    '',
    '# Packages and their sizes',
    '',
    'Download size of the package itself, number of third-party packages that an install adds, and disk space of all',
    'installed files. Optional peers are not counted.',
    '',
    row(['package', 'packed', 'third-party packages', 'installed']),
    row(['---', '---:', '---:', '---:']),
    ...packages,
    '',
    'Size that each entry point adds to an application that uses all of it, minified and compressed with gzip. An entry point that runs in',
    'browsers is measured with all its dependencies; of the others, only our own code is measured.',
    '',
    row(['entry point', 'size', 'runs in']),
    row(['---', '---:', '---']),
    ...entryPoints,
    '',
  ].join('\n')
}

/** Returns the text of a README with its size line replaced. */
export function withSizeLine(text: string, name: string, size: PackageSize): string {
  const lines = text.split('\n')
  const line = sizeLine(name, size)
  const index = lines.findIndex((other) => other.startsWith('Size: '))
  if (index >= 0) return lines.with(index, line).join('\n')
  const title = lines.findIndex((other) => other.startsWith('# '))
  const endOfIntroduction = lines.indexOf('', title + 2)
  if (title < 0 || endOfIntroduction < 0) {
    throw new Error(`The README of ${name} has no title with a paragraph below it`)
  }
  return lines.toSpliced(endOfIntroduction, 0, '', line).join('\n')
}

function sizeLine(name: string, { packedBytes, otherPackages, entryPoints }: PackageSize): string {
  const others =
    otherPackages === 0
      ? 'no third-party packages'
      : `${otherPackages} third-party package${otherPackages === 1 ? '' : 's'}`
  const browser =
    entryPoints[name] !== undefined && NEUTRAL_ENTRY_POINTS.has(name)
      ? entryPoints[name]
      : undefined
  const inBrowser = browser === undefined ? '' : `; bundled for browsers ${shownBytes(browser)}`
  return `Size: ${shownBytes(packedBytes)} packed, ${others}${inBrowser}.`
}

/** Rounds to two significant digits; more would change with every build. */
function shownBytes(bytes: number): string {
  const [value, unit] = bytes < 1024 ** 2 ? [bytes / 1024, 'KiB'] : [bytes / 1024 ** 2, 'MiB']
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}
