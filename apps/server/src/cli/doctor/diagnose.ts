/** Runs `tutti doctor` and prints its findings. */
import { runDoctor } from './run-doctor.ts'
import { toSingleLine } from '../../terminal/text-width.ts'
import { printJson, printLines } from '../../terminal/print.ts'
import { readClientEnvironment } from '../../environment/env.ts'

import type { CommandContext } from '../command-context.ts'
import type { Finding, FindingLevel } from '../../checks/finding.ts'
import type { Line, Style } from '../../terminal/line.ts'
import type { TargetOptions } from '../target.ts'

/** Runs the checks and prints their findings. The outcome is FAILED if one of them is a problem. */
export async function diagnose(
  options: TargetOptions & { readonly json?: boolean },
  context: CommandContext,
): Promise<void> {
  const { io } = context
  const environment = readClientEnvironment(io.variables)
  const findings = await runDoctor({
    variables: io.variables,
    cwd: io.cwd,
    url: options.url ?? environment.url,
    apiKey: options.apiKey ?? environment.apiKey,
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

/** Formats the findings: a line for each finding, a line for its advice, and a line with the counts. */
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
  return [...lines, [{ text: formatSummary(findings), style: 'bold' }]]
}

function formatSummary(findings: readonly Finding[]): string {
  const count = (level: FindingLevel): number =>
    findings.filter((one) => one.level === level).length
  const parts = [formatCount(count('problem'), 'problem'), formatCount(count('warning'), 'warning')]
  const text = parts.join(', ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function formatCount(count: number, noun: string): string {
  return `${count === 0 ? 'no' : count} ${noun}${count === 1 ? '' : 's'}`
}
