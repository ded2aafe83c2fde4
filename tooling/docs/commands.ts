/**
 * Checks the commands of the pages: each `tutti …` in a shell block must be a known command with known
 * options, and each `curl …` to a server must request a known route.
 */
import { ROUTES } from '@tutti/protocol'
import type { Route } from '@tutti/protocol/internal'

import type { Program } from '../reference/cli-page.ts'
import type { CodeBlock, Page } from './pages.ts'

const SHELLS = ['sh', 'bash', 'console']

/** Returns the problems of the commands on the pages, one line each. */
export function commandProblems(pages: readonly Page[], program: Program): readonly string[] {
  return pages.flatMap((page) =>
    page.blocks
      .filter(({ language, meta }) => SHELLS.includes(language) && !meta.includes('foreign'))
      .flatMap((block) => linesOf(block))
      .flatMap(({ text, line }) => {
        const problem = tuttiProblem(text, program) ?? curlProblem(text)
        return problem === undefined ? [] : [`${page.path}:${line}: ${problem}`]
      }),
  )
}

interface Line {
  readonly text: string
  readonly line: number
}

/** Returns the commands of a block; lines joined by a backslash are one command. */
function linesOf({ code, line }: CodeBlock): readonly Line[] {
  const lines: Line[] = []
  let isOpen = false
  for (const [index, text] of code.split('\n').entries()) {
    const last = lines.at(-1)
    if (isOpen && last !== undefined) {
      lines[lines.length - 1] = { ...last, text: `${last.text.slice(0, -1)} ${text.trim()}` }
    } else lines.push({ text: text.trim(), line: line + index })
    isOpen = text.endsWith('\\')
  }
  return lines
}

const TUTTI = /^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:npx |npm exec |pnpm )?tutti(?: (.*))?$/

function tuttiProblem(text: string, program: Program): string | undefined {
  const [match, rest = ''] = TUTTI.exec(text.replace(/\s+#.*$/, '')) ?? []
  if (match === undefined) return undefined
  const words = wordsOf(rest)
  let command = program
  for (const word of words) {
    const next = command.commands.find(
      (known) => known.name() === word || known.aliases().includes(word),
    )
    if (next === undefined) break
    command = next
  }
  const isHelp = words[0] === 'help' || words.length === 0
  if (command === program && !isHelp && !words[0]?.startsWith('-')) {
    const known = program.commands.map((each) => each.name())
    return `"tutti ${words[0]}" is not a command. Known: ${known.join(', ')}`
  }
  const flags = words.filter((word) => /^--?[a-z]/.test(word)).map((word) => word.split('=')[0])
  const options = [...command.options, ...program.options]
  const unknown = flags.find(
    (flag) =>
      flag !== '--help' && !options.some(({ short, long }) => flag === short || flag === long),
  )
  return unknown === undefined ? undefined : `"tutti ${command.name()}" has no option ${unknown}`
}

/** Splits a command into words. Quoted text is one word; a pipe ends the command. */
function wordsOf(text: string): readonly string[] {
  const words = text.match(/(?:[^\s"'|&;<>]|"[^"]*"|'[^']*')+|[|&;<>]+/g) ?? []
  const end = words.findIndex((word) => /^[|&;<>]+$/.test(word))
  return end === -1 ? words : words.slice(0, end)
}

/** Paths that are not routes of the protocol: other protocols, pages and documents. */
const OTHERS =
  /^\/(?:$|docs\b|openapi\.json|asyncapi\.json|a2a\b|tasks\/|mcp\b|ws\b|\.well-known\/|metrics\b|tasks:)/

function curlProblem(text: string): string | undefined {
  if (!/^(?:\$ )?curl\b/.test(text)) return undefined
  const address = /(?:https?:\/\/)?(?:localhost|127\.0\.0\.1):7329(\/[^\s'"?#]*)?/.exec(text)
  if (address === null) return undefined
  const path = address[1] ?? '/'
  const method =
    /-X\s*(\w+)/.exec(text)?.[1] ?? (/\s(?:-d|--data\S*|--json)\s/.test(text) ? 'POST' : 'GET')
  const routes: readonly Route[] = Object.values(ROUTES)
  const there = routes.filter((route) => patternOf(route.path).test(path))
  if (there.some((route) => route.method === method) || OTHERS.test(path)) return undefined
  return `${method} ${path} is not a route`
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+').replaceAll('.', String.raw`\.`)}$`)
}
