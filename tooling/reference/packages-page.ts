/** Generates the page of package sizes, and the size line of each README. */
import { NEUTRAL_DOORS } from '../packages/neutral-doors.ts'
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
  const doors = Object.values(sizes).flatMap((size) =>
    Object.entries(size.doors).map(([door, bytes]) =>
      row([
        `\`${door}\``,
        shownBytes(bytes),
        NEUTRAL_DOORS.has(door) ? 'browsers too, with all it needs' : 'Node, our code alone',
      ]),
    ),
  )
  return [
    '<!-- Written by tooling/checks/sizes.ts from the packed packages; do not edit. -->',
    '',
    '# Packages and their sizes',
    '',
    'What an install downloads of the package itself, how many packages of others come with it, and what all of it',
    'takes on the disk. Optional peers are not counted.',
    '',
    row(['package', 'packed', 'packages of others', 'installed']),
    row(['---', '---:', '---:', '---:']),
    ...packages,
    '',
    'What each door adds to an application that uses all of it, minified and compressed with gzip. A door that runs in',
    'browsers is counted with everything it needs; of the others, only our own code.',
    '',
    row(['door', 'size', 'runs in']),
    row(['---', '---:', '---']),
    ...doors,
    '',
  ].join('\n')
}

/** Returns the text of a README with its size line replaced. */
export function withSizeLine(text: string, name: string, size: PackageSize): string {
  const lines = text.split('\n')
  const line = sizeLine(name, size)
  const place = lines.findIndex((other) => other.startsWith('Size: '))
  if (place >= 0) return lines.with(place, line).join('\n')
  const title = lines.findIndex((other) => other.startsWith('# '))
  const endOfIntroduction = lines.indexOf('', title + 2)
  if (title < 0 || endOfIntroduction < 0) {
    throw new Error(`The README of ${name} has no title with a paragraph below it`)
  }
  return lines.toSpliced(endOfIntroduction, 0, '', line).join('\n')
}

function sizeLine(name: string, { packedBytes, otherPackages, doors }: PackageSize): string {
  const others =
    otherPackages === 0
      ? 'no packages of others'
      : `${otherPackages} package${otherPackages === 1 ? '' : 's'} of others`
  const browser = doors[name] !== undefined && NEUTRAL_DOORS.has(name) ? doors[name] : undefined
  const inBrowser =
    browser === undefined ? '' : `; in a browser, with all it needs, ${shownBytes(browser)}`
  return `Size: ${shownBytes(packedBytes)} packed, with ${others}${inBrowser}.`
}

/** Rounds to two significant digits; more would change with every build. */
function shownBytes(bytes: number): string {
  const [value, unit] = bytes < 1024 ** 2 ? [bytes / 1024, 'KiB'] : [bytes / 1024 ** 2, 'MiB']
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}
