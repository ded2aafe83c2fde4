/**
 * Generates the note that says how to use the packages before they are on npm. Publishing changes one line here; then
 * `npm run gen` removes the note from every page.
 */
import { join } from 'node:path'

import { publicPackages } from '../packages/pack.ts'
import { replaceSection } from './markdown.ts'

/** Whether the packages are on npm. */
const IS_PUBLISHED: boolean = false

/** Command that installs all packages into the project of the working directory, which is next to a clone. */
export const INSTALL_FROM_CLONE =
  'npm --prefix ../tutti run pack && npm install ../tutti/packed/*.tgz'

/** Command that creates a project in the folder `app` of the working directory, which contains a clone. */
export const CREATE_FROM_CLONE =
  'npm --prefix tutti run pack && node tutti/packages/create-tutti/dist/create-tutti.js app --yes --no-install && cd app && npm install ../tutti/packed/*.tgz'

const CLONE = 'a clone of [the repository](https://github.com/tutti-dev/tutti)'

const INSTALL = `In a project next to ${CLONE}, \`${INSTALL_FROM_CLONE}\` installs them all.`
const CREATE = `Next to ${CLONE}, \`${CREATE_FROM_CLONE}\` replaces \`npm create tutti\`.`

/** Pages with the note: path → its lines. */
export const CLONE_NOTES: ReadonlyMap<string, readonly string[]> = new Map<
  string,
  readonly string[]
>([
  ...['README.md', 'docs/README.md', 'docs/tutorial.md'].map(
    (path) =>
      [path, ['The packages are not on npm yet.', '', `- ${INSTALL}`, `- ${CREATE}`]] as const,
  ),
  ...publicPackages().map(({ name, directory }) => {
    const way = name === 'create-tutti' ? CREATE : INSTALL
    return [join(directory, 'README.md'), [`The packages are not on npm yet. ${way}`]] as const
  }),
])

/** Returns a page with the current note, or without one. */
export function replaceCloneNote(text: string, path: string): string {
  const lines = IS_PUBLISHED ? [] : (CLONE_NOTES.get(path) ?? [])
  return replaceSection(text, 'tooling/reference/clone-note.ts', lines)
}
