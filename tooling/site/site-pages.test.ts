import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import { parsePage } from '../docs/pages.ts'
import { findCloneSection, toAgentText, toSitePages } from './site-pages.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const SETTINGS = {
  base: '/tutti/',
  version: 'v0.1.0',
  repository: 'https://github.com/x/y',
  ref: '@tutti/server@0.1.0',
  latest: 'https://x.github.io/tutti/',
}

const INDEX = parsePage(
  'docs/README.md',
  '# Documentation\n\n### Use a clone\n\n[tutorial](tutorial.md) [core](../packages/core)',
)

const TUTORIAL = `# Tutorial

![A run](images/run.png) and ![its site](https://x.test/a.png). The [package](../packages/core) and
[its tests](../packages/core/test "a title"), [the clone](README.md#use-a-clone), [here](#tutorial),
[images/run.png](images/run.png), [policy](../SECURITY.md#supported-versions), [license][license].

[license]: ../LICENSE
`

function convert(text: string): string {
  const pages = [
    INDEX,
    parsePage('docs/tutorial.md', text),
    parsePage('packages/core/README.md', '# @tutti/core'),
    parsePage('SECURITY.md', '# Security'),
  ]
  return toSitePages(ROOT, pages, SETTINGS).find(({ path }) => path === 'tutorial.md')?.text ?? ''
}

test('Links lead to pages of the site, and to the repository at the released tag', () => {
  const files = 'https://github.com/x/y/blob/@tutti/server@0.1.0'
  expect(convert(TUTORIAL)).toBe(`# Tutorial

![A run](images/run.png) and ![its site](https://x.test/a.png). The [package](packages/core/index.md) and
[its tests](https://github.com/x/y/tree/@tutti/server@0.1.0/packages/core/test "a title"), [the clone](documentation.md#use-a-clone), [here](#tutorial),
[images/run.png](images/run.png), [policy](${files}/SECURITY.md#supported-versions), [license][license].

[license]: ${files}/LICENSE
`)
})

test('A link to a file that does not exist is an error', () => {
  expect(() => convert('[gone](gone.md)')).toThrow('docs/tutorial.md: "gone.md" leads to no file')
})

test('The Markdown for programs says how to install, with the clone as long as it is needed', () => {
  const page = { path: 'packages/core/index.md', text: '# Core\n\nTools', install: 'npm install x' }
  const clone = findCloneSection([INDEX])
  expect(toAgentText(page, clone)).toBe(
    '# Core\n\nInstall: `npm install x` (not on npm yet: [use a clone](../../documentation.md#use-a-clone))\n\nTools',
  )
  expect(findCloneSection([parsePage('docs/README.md', '# Documentation')])).toBeUndefined()
  expect(toAgentText(page, undefined)).toBe('# Core\n\nInstall: `npm install x`\n\nTools')
})
