/** The Markdown pages of the project, and what they hold: code, links and headings. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import GithubSlugger from 'github-slugger'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { visit } from 'unist-util-visit'

import type { Heading, PhrasingContent, Root } from 'mdast'

/** A block of code on a page. */
export interface CodeBlock {
  /** What stands after the fence: `ts`, `json`, `sh`; empty for none. */
  readonly language: string
  /** What stands after the language, such as `foreign`. */
  readonly meta: string
  readonly code: string
  /** Line of its first line of code, from 1. */
  readonly line: number
}

/** A link on a page. */
export interface PageLink {
  readonly target: string
  readonly line: number
}

/** A page. */
export interface Page {
  /** From the root of the repository, with slashes. */
  readonly path: string
  readonly text: string
  readonly title: string
  /** The text of its first paragraph. */
  readonly lead: string
  readonly blocks: readonly CodeBlock[]
  readonly links: readonly PageLink[]
  /** What a link can name after its `#`. */
  readonly anchors: ReadonlySet<string>
}

const PATTERNS = [
  '*.md',
  'docs/**/*.md',
  'packages/*/README.md',
  'packages/create-tutti/template/**/*.md',
  'apps/*/README.md',
  'examples/*.md',
  'examples/*/README.md',
]

const NOT_OURS = /(?:^|\/)(?:node_modules|dist|\.snippets[^/]*)\//

/** Every page below `root`, sorted by path. */
export function readPages(root: string): readonly Page[] {
  return PATTERNS.flatMap((pattern) => globSync(pattern, { cwd: root }))
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !NOT_OURS.test(path))
    .toSorted()
    .map((path) => parsePage(path, readFileSync(join(root, path), 'utf8')))
}

/** Reads one page. */
export function parsePage(path: string, text: string): Page {
  const tree = fromMarkdown(text)
  const blocks: CodeBlock[] = []
  const links: PageLink[] = []
  const headings: Heading[] = []
  visit(tree, (node) => {
    const line = node.position?.start.line ?? 0
    if (node.type === 'code') {
      blocks.push({
        language: node.lang ?? '',
        meta: node.meta ?? '',
        code: node.value,
        line: line + 1,
      })
    }
    if (node.type === 'link' || node.type === 'image' || node.type === 'definition') {
      links.push({ target: node.url, line })
    }
    if (node.type === 'heading') headings.push(node)
  })
  const slugger = new GithubSlugger()
  return {
    path,
    text,
    title: textOf(headings[0]?.children ?? []),
    lead: leadOf(tree),
    blocks,
    links,
    anchors: new Set(headings.map(({ children }) => slugger.slug(textOf(children)))),
  }
}

function leadOf(tree: Root): string {
  const first = tree.children.find(({ type }) => type === 'paragraph')
  return first?.type === 'paragraph' ? textOf(first.children).replaceAll('\n', ' ') : ''
}

function textOf(nodes: readonly PhrasingContent[]): string {
  return nodes
    .map((node) => ('value' in node ? node.value : 'children' in node ? textOf(node.children) : ''))
    .join('')
}
