import { expect, test } from 'vitest'

import { listPages, navigationProblems, readNavigation } from './navigation.ts'
import { parsePage } from './pages.ts'

const INDEX = `# Documentation

Start with the [tutorial](tutorial.md).

## How to

| | |
| --- | --- |
| [Write a tool](how-to/write-a-tool.md) | schema |

## Packages

[\`@tutti/core\`](../packages/core) and [Node](https://nodejs.org)

## Background

[decisions](decisions/README.md), [versions](versions.md#support)
`

const PAGES = [
  parsePage('README.md', '# Tutti\n\n[Documentation](docs/README.md)'),
  parsePage('docs/README.md', INDEX),
  parsePage('docs/decisions/0001-schemas.md', '# 1. Schemas'),
  parsePage(
    'docs/decisions/README.md',
    '# Decisions\n\n1. [Schemas](0001-schemas.md), [up](../versions.md)',
  ),
  parsePage('docs/how-to/write-a-tool.md', '# Write a tool'),
  parsePage('docs/tutorial.md', '# Tutorial'),
  parsePage('docs/versions.md', '# Versions and compatibility'),
  parsePage('packages/core/README.md', '# @tutti/core'),
]

test('The navigation has the sections of the documentation, with the pages in their order', () => {
  const sections = readNavigation(PAGES)
  const labels = sections.map(({ title, entries }) => [title, entries.map(({ label }) => label)])
  expect(labels).toEqual([
    ['Start', ['Overview', 'Documentation', 'Tutorial']],
    ['How to', ['Write a tool']],
    ['Packages', ['@tutti/core']],
    ['Background', ['Decisions', 'Versions']],
  ])
  expect(listPages(sections).map(({ path }) => path)).toEqual([
    'README.md',
    'docs/README.md',
    'docs/tutorial.md',
    'docs/how-to/write-a-tool.md',
    'packages/core/README.md',
    'docs/decisions/README.md',
    'docs/decisions/0001-schemas.md',
    'docs/versions.md',
  ])
  expect(navigationProblems(PAGES)).toEqual([])
})

test('A page that the documentation does not list is a problem', () => {
  const pages = [...PAGES, parsePage('docs/costs.md', '# Costs\n\n[versions](versions.md)')]
  expect(navigationProblems(pages)).toEqual([
    'docs/costs.md: docs/README.md does not link to it, nor does a list of pages that it links to',
  ])
})
