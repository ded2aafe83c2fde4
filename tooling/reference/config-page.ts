/** Generates the reference page of the server's config from the docstrings of its interfaces. */
import { page } from './markdown.ts'
import { sectionOf } from './options-page.ts'
import { interfacesOf } from './source-docs.ts'

/** Returns the text of `docs/reference/config.md`. */
export function configPage(): string {
  const interfaces = [
    ...interfacesOf('apps/server/src/config/config.ts'),
    ...interfacesOf('apps/server/src/start/serve-options.ts').filter(
      ({ name }) => name === 'ServeOptions',
    ),
  ]
  return page('Config of a server', [
    'What `tutti.config.ts` exports: `export default defineConfig({ … })` of `@tutti/server`. All problems of a config are reported together, and the server does not start.',
    '',
    ...interfaces.flatMap((each) => sectionOf(each, each.members)),
  ])
}
