/** Generates the reference page of all options from the docstrings of exported interfaces. */
import { globSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { code, page, table } from './markdown.ts'
import { interfacesOf, reexportsOf, type InterfaceDoc, type MemberDoc } from './source-docs.ts'

/** Suffixes of the names of option interfaces. */
const FILLED_IN =
  /^Agent$|(?:Options|Definition|Settings|Limits|Budget|Endpoint|Program|Config|Policy)$/

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
  'control-api',
  'compat-agentensemble',
  'compat-jamjet',
  'client',
]

/** Returns the text of `docs/reference/options.md`. */
export function optionsPage(): string {
  const known = readdirSync('packages')
  const parts = PACKAGES.filter((name) => known.includes(name)).flatMap(partOf)
  return page('Options', [
    'What each package lets you set, with its default. A type in the second column is that of the package.',
    'What a server is configured by is in [config.md](config.md) and [environment.md](environment.md).',
    '',
    ...parts,
  ])
}

function partOf(name: string): readonly string[] {
  const root = join('packages', name, 'src')
  const files = globSync('**/*.ts', { cwd: root }).filter(
    (path) => !/\.(test|test-d)\.ts$/.test(path),
  )
  const interfaces = new Map(
    files
      .toSorted()
      .flatMap((path) => interfacesOf(join(root, path)).map((each) => [each.name, each])),
  )
  const entryPoints = files
    .filter((path) => /^(?:(?:agent|connector|node|postgres)\/)?index\.ts$/.test(path))
    .toSorted()
  const exported = new Set(entryPoints.flatMap((path) => reexportsOf(join(root, path))))
  const shown = [...exported]
    .filter((each) => FILLED_IN.test(each))
    .flatMap((each) => interfaces.get(each) ?? [])
    .filter((each) => membersOf(each, interfaces).length > 0)
  if (shown.length === 0) return []
  return [
    `## @tutti/${name}`,
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
