/** Shows what the doctor finds. */
import { readClientEnvironment } from '../../environment/env.ts'
import { printJson, printLines } from '../text/print.ts'
import { findingLines } from './finding-lines.ts'
import { runDoctor } from './run-doctor.ts'

import type { CommandContext } from '../command-context.ts'
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
