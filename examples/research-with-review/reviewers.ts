/** Reviewers: a person at the terminal, or a list of decisions. */
import { createInterface } from 'node:readline/promises'

import type { ReviewAnswer, RunReviewer } from '@tutti/ensemble'

/** Returns a reviewer that asks on the terminal if there is one, otherwise decides by the script. */
export function createReviewer(script: readonly ReviewAnswer[]): RunReviewer {
  return process.stdin.isTTY && process.stdout.isTTY
    ? createTerminalReviewer()
    : createScriptedReviewer(script)
}

/** Creates a reviewer that asks on the terminal until the answer is valid. */
function createTerminalReviewer(): RunReviewer {
  return {
    async decide({ prompt, taskOutput }, signal) {
      using terminal = createInterface({ input: process.stdin, output: process.stdout })
      console.log(`\n${taskOutput}\n\n${prompt}`)
      for (;;) {
        const answer = await terminal.question('yes · no: feedback · exit > ', { signal })
        const decision = parseDecision(answer.trim())
        if (decision !== undefined) return decision
      }
    },
  }
}

function parseDecision(answer: string): ReviewAnswer | undefined {
  const [, feedback] = /^no:\s*(.+)/i.exec(answer) ?? []
  if (feedback !== undefined) return { action: 'REJECT', feedback }
  if (/^y(es)?$/i.test(answer)) return { action: 'CONTINUE' }
  return /^exit$/i.test(answer) ? { action: 'EXIT_EARLY' } : undefined
}

/** Creates a reviewer that takes its decisions from a list. */
function createScriptedReviewer(script: readonly ReviewAnswer[]): RunReviewer {
  const decisions = [...script]
  return {
    async decide({ prompt, taskOutput }) {
      const decision = decisions.shift() ?? { action: 'EXIT_EARLY' }
      const feedback = 'feedback' in decision ? `: ${decision.feedback}` : ''
      console.log(`\n${taskOutput}\n\n${prompt} ${decision.action}${feedback}`)
      return decision
    },
  }
}
