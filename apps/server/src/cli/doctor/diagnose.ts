/** Shows what the doctor finds. */
import { runDoctor } from './run-doctor.ts'
import { toSingleLine } from '../live/text-width.ts'
import { printJson, printLines } from '../text/print.ts'
import { readClientEnvironment } from '../../environment/env.ts'

import type { CommandContext } from '../command-context.ts'
import type { Finding, FindingLevel } from './finding.ts'
import type { Line, Style } from '../live/line.ts'
import type { TargetOptions } from '../target.ts'

/** Makes the checks and shows what they found; the command FAILED when there is a problem. */
export async function diagnose(
  options: TargetOptions & { readonly json?: boolean },
  context: CommandContext,
): Promise<void> {
  const { io } = context
  const said = readClientEnvironment(io.variables)
  const findings = await runDoctor({
    variables: io.variables,
    cwd: io.cwd,
    url: options.url ?? said.url,
    apiKey: options.apiKey ?? said.apiKey,
  })
  const isFine = findings.every(({ level }) => level !== 'problem')
  if (!isFine) context.exit = 'FAILED'
  if (options.json === true) printJson({ ok: isFine, findings }, io)
  else printLines(findingLines(findings), io)
}

const STYLES: Readonly<Record<FindingLevel, Style>> = {
  ok: 'green',
  warning: 'yellow',
  problem: 'red',
}

const LEVEL_WIDTH = 'problem'.length

/** A line for each finding, one for each advice, and one that counts. */
export function findingLines(findings: readonly Finding[]): readonly Line[] {
  const width = Math.max(...findings.map(({ check }) => check.length))
  const indent = ' '.repeat(LEVEL_WIDTH + width + 4)
  const lines = findings.flatMap(({ level, check, message, advice }): readonly Line[] => [
    [
      { text: level.padEnd(LEVEL_WIDTH), style: STYLES[level] },
      { text: `  ${check.padEnd(width)}  ${toSingleLine(message)}` },
    ],
    ...(advice === undefined
      ? []
      : [[{ text: indent + toSingleLine(advice), style: 'dim' as const }]]),
  ])
  return [...lines, [{ text: summaryOf(findings), style: 'bold' }]]
}

function summaryOf(findings: readonly Finding[]): string {
  const count = (level: FindingLevel): number =>
    findings.filter((one) => one.level === level).length
  const parts = [countWords(count('problem'), 'problem'), countWords(count('warning'), 'warning')]
  return parts.join(', ')
}

function countWords(count: number, what: string): string {
  return `${count === 0 ? 'No' : count} ${what}${count === 1 ? '' : 's'}`
}
