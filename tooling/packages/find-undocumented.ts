/** Searches the pages of installed packages, as a coding agent does that has nothing else. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Pages of installed packages: their READMEs, their skills and what these name. */
const PAGES = '{@tutti/*,create-tutti}/{README.md,skills/*/SKILL.md,docs/**/*.md}'

/** Returns those of `names` that no page below the folder `modules` has as inline code or as a heading. */
export function findUndocumented(modules: string, names: readonly string[]): readonly string[] {
  const found = new Set(
    globSync(PAGES, { cwd: modules }).flatMap((path) => documentedNames(join(modules, path))),
  )
  return names.filter((name) => !found.has(name))
}

/** Returns the names on a page; a `?` behind one marks what may be absent. */
function documentedNames(path: string): readonly string[] {
  const names = readFileSync(path, 'utf8').matchAll(/`(\w+)\??`|^#+ `?(\w+)`?$/gm)
  return [...names].map(([, code, heading]) => code ?? heading ?? '')
}
