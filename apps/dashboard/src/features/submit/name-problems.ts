/** Names of tools, models and ensembles that the server does not have. Pure. */
import { suggest, type Capabilities, type Problem } from '@tutti/protocol'

/** What is said of a name that nobody has. */
export function unknownName(kind: string, name: string, known: readonly string[]): string {
  const meant = suggest(name, known)
  const hint = meant === undefined ? '' : `; did you mean "${meant}"?`
  return `there is no ${kind} "${name}"${hint}`
}

/** The problems of names of tools. */
export function toolProblems(
  names: readonly string[] | undefined,
  path: string,
  known: readonly string[],
): readonly Problem[] {
  return (names ?? []).flatMap((name, index) =>
    known.includes(name)
      ? []
      : { path: `${path}/${index}`, message: unknownName('tool', name, known) },
  )
}

/** The problem of the alias of a model. */
export function modelProblems(
  alias: string | undefined,
  path: string,
  { models }: Capabilities,
): readonly Problem[] {
  const known = models.map((model) => model.alias)
  if (alias === undefined || known.includes(alias)) return []
  return [{ path, message: unknownName('model', alias, known) }]
}
