/** Reads the Markdown pages of the project: their code, links and headings. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import GithubSlugger from 'github-slugger'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { visit } from 'unist-util-visit'

import type { Heading, PhrasingContent, Root } from 'mdast'

export interface CodeBlock {
  /** Language after the fence: `ts`, `json`, `sh`; empty without one. */
  readonly language: string
  /** Text after the language, such as `foreign`. */
  readonly meta: string
  readonly code: string
  /** Line of the first line of code, from 1. */
  readonly line: number
}

export interface PageLink {
  readonly target: string
  readonly line: number
  /** Offsets of the link in `text`. */
  readonly from: number
  readonly to: number
}

export interface Page {
  /** Path from the root of the repository, with slashes. */
  readonly path: string
  readonly text: string
  readonly title: string
  /** Text of the first paragraph. */
  readonly lead: string
  readonly blocks: readonly CodeBlock[]
  readonly links: readonly PageLink[]
  /** Anchors that a link can name after `#`. */
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

/** Returns every page below `root`, sorted by path. */
export function readPages(root: string): readonly Page[] {
  return listPages(root).map((path) => parsePage(path, readFileSync(join(root, path), 'utf8')))
}

/** Returns the paths of all pages below `root`, sorted. */
export function listPages(root: string): readonly string[] {
  return PATTERNS.flatMap((pattern) => globSync(pattern, { cwd: root }))
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !NOT_OURS.test(path))
    .toSorted()
}

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
      const { start, end } = node.position ?? {}
      links.push({ target: node.url, line, from: start?.offset ?? 0, to: end?.offset ?? 0 })
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

/** Returns the text of nodes without its formatting. */
export function textOf(nodes: readonly PhrasingContent[]): string {
  return nodes
    .map((node) => ('value' in node ? node.value : 'children' in node ? textOf(node.children) : ''))
    .join('')
}
