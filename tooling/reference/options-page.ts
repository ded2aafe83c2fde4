/** Generates the reference page of all options from the docstrings of exported interfaces. */
import { globSync } from 'node:fs'
import { join } from 'node:path'

import { code, page, table } from './markdown.ts'
import {
  interfacesOf,
  mentionsOf,
  reexportsOf,
  type InterfaceDoc,
  type MemberDoc,
} from './source-docs.ts'

/** Suffixes of the names of option interfaces. */
export const FILLED_IN =
  /^Agent$|^(?!Resolved).*(?:Options|Definition|Settings|Limits|Budget|Endpoint|Program|Config|Policy)$/

/** Packages with options, in the order of the README. */
const PACKAGES = [
  'core',
  'net',
  'mcp',
  'builtin-tools',
  'pipeline',
  'remote-tools',
  'agent-call',
  'agent-tool',
  'ensemble',
  'langchain',
  'testing',
  'telemetry',
  'runs',
  'nats',
  'control-api',
  'compat-agentensemble',
  'compat-jamjet',
  'client',
]

/** Declarations of one package, read from all of its files. */
interface PackageSources {
  readonly name: string
  readonly interfaces: readonly InterfaceDoc[]
  /** Names that the type of each declaration mentions. */
  readonly mentions: ReadonlyMap<string, readonly string[]>
  /** Names that users import. */
  readonly api: readonly string[]
}

/** Returns the text of `docs/reference/options.md`. */
export function optionsPage(): string {
  const packages = PACKAGES.map(readSources)
  const shown = findReachable(packages)
  return page('Options', [
    'What each package lets you set, with its default. A type in the second column is that of the package.',
    'What a server is configured by is in [config.md](config.md) and [environment.md](environment.md).',
    '',
    ...packages.flatMap((each) => partOf(each, shown)),
  ])
}

function readSources(name: string): PackageSources {
  const root = join('packages', name, 'src')
  const paths = globSync('**/*.ts', { cwd: root })
    .filter((path) => !/\.(test|test-d)\.ts$|^testing\//.test(path))
    .toSorted()
    .map((path) => join(root, path))
  return {
    name,
    interfaces: paths.flatMap(interfacesOf),
    mentions: new Map(paths.flatMap((path) => [...mentionsOf(path)])),
    api: paths
      .filter((path) => /\/(?:index|adapter)\.ts$/.test(path))
      .flatMap((path) => reexportsOf(path)),
  }
}

/** Returns the names that the API of the packages mentions, directly or through other types. */
function findReachable(packages: readonly PackageSources[]): ReadonlySet<string> {
  const mentions = new Map(packages.flatMap((each) => [...each.mentions]))
  const found = new Set(packages.flatMap(({ api }) => api))
  for (const name of found) for (const other of mentions.get(name) ?? []) found.add(other)
  return found
}

function partOf(sources: PackageSources, reachable: ReadonlySet<string>): readonly string[] {
  const interfaces = new Map(sources.interfaces.map((each) => [each.name, each]))
  const shown = [...interfaces.values()]
    .filter((each) => each.isExported && FILLED_IN.test(each.name) && reachable.has(each.name))
    .filter((each) => membersOf(each, interfaces).length > 0)
  if (shown.length === 0) return []
  return [
    `## @tutti/${sources.name}`,
    '',
    ...shown.flatMap((each) => sectionOf(each, membersOf(each, interfaces))),
  ]
}

/** Returns the members of an interface, including those of interfaces of the same package that it extends. */
function membersOf(
  { bases, members }: InterfaceDoc,
  interfaces: ReadonlyMap<string, InterfaceDoc>,
): readonly MemberDoc[] {
  const inherited = bases.flatMap((base) => {
    const [, name = ''] = /^(?:Partial<|Omit<)?(\w+)/.exec(base) ?? []
    const omitted = /^Omit<\w+(?:<[^>]*>)?, (.*)>$/.exec(base)?.[1] ?? ''
    const found = interfaces.get(name)
    if (found === undefined || base.startsWith('Pick<')) return []
    return membersOf(found, interfaces).filter((each) => !omitted.includes(`'${each.name}'`))
  })
  const own = new Set(members.map(({ name }) => name))
  return [...members, ...inherited.filter(({ name }) => !own.has(name))]
}

/** Formats one interface: a heading, its docstring and a table of its members. */
export function sectionOf(
  { name, text }: InterfaceDoc,
  members: readonly MemberDoc[],
): readonly string[] {
  const rows = members.map((member) => [
    code(member.isOptional ? `${member.name}?` : member.name),
    code(shortened(member.type)),
    member.byDefault === undefined ? '' : member.byDefault,
    member.text,
  ])
  return [`### ${name}`, '', text, '', ...table(['option', 'type', 'default', 'meaning'], rows), '']
}

const MAX_TYPE_LENGTH = 70

function shortened(type: string): string {
  return type.length > MAX_TYPE_LENGTH ? `${type.slice(0, MAX_TYPE_LENGTH)}…` : type
}
