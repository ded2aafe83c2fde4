/** Who decides: a person at a terminal, or, where there is none, a reviewer who has made up their mind before. */
import { createInterface } from 'node:readline/promises'

import type { ReviewAnswer, RunReviewer } from '@tutti/ensemble'

/** A person at the terminal, or the decisions of a script. */
export function reviewer(script: readonly ReviewAnswer[]): RunReviewer {
  return process.stdin.isTTY && process.stdout.isTTY ? terminalReviewer() : readReviewer(script)
}

/** Asks the person at the terminal, until the answer is one. */
function terminalReviewer(): RunReviewer {
  return {
    async decide({ prompt, taskOutput }, signal) {
      using terminal = createInterface({ input: process.stdin, output: process.stdout })
      console.log(`\n${taskOutput}\n\n${prompt}`)
      for (;;) {
        const answer = await terminal.question('yes · no: why · exit > ', { signal })
        const decision = decisionOf(answer.trim())
        if (decision !== undefined) return decision
      }
    },
  }
}

function decisionOf(answer: string): ReviewAnswer | undefined {
  const [, feedback] = /^no:\s*(.+)/i.exec(answer) ?? []
  if (feedback !== undefined) return { action: 'REJECT', feedback }
  if (/^y(es)?$/i.test(answer)) return { action: 'CONTINUE' }
  return /^exit$/i.test(answer) ? { action: 'EXIT_EARLY' } : undefined
}

/** Decides one review after the other from a list. */
function readReviewer(script: readonly ReviewAnswer[]): RunReviewer {
  const left = [...script]
  return {
    async decide({ prompt, taskOutput }) {
      const decision = left.shift() ?? { action: 'EXIT_EARLY' }
      const words = 'feedback' in decision ? `: ${decision.feedback}` : ''
      console.log(`\n${taskOutput}\n\n${prompt} ${decision.action}${words}`)
      return decision
    },
  }
}
