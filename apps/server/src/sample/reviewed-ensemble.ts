/** The second sample: two parallel researchers, an editor, and a person who decides what is published. */
import { agent, ensemble, task, type Ensemble } from '@tutti/ensemble'
import type { ChatModel } from '@tutti/ensemble/adapter'

import { measureText, readArticle, searchLibrary } from './library-tools.ts'

/** Time limit of the review, in milliseconds. */
const REVIEW_MS = 60 * 60 * 1_000

/** Creates the ensemble with `model`. */
export function reviewedEnsemble(model: ChatModel): Ensemble {
  const expectedOutput = 'Notes: one finding per line, each starting with "- "'
  const theorist = task({
    name: 'theorist',
    description: 'Research the goals of {topic} in the library: what they are, and why',
    expectedOutput,
    agent: agent({
      role: 'Theorist',
      goal: 'Find the goals, and who pursues them',
      tools: [searchLibrary, readArticle],
    }),
    maxIterations: 8,
  })
  const practitioner = task({
    name: 'practitioner',
    description: 'Research the practice of {topic} in the library: what people do every day',
    expectedOutput,
    agent: agent({
      role: 'Practitioner',
      goal: 'Find out what people actually do',
      tools: [searchLibrary, readArticle],
    }),
    maxIterations: 8,
  })
  const editor = task({
    name: 'editor',
    description: 'Write a short brief on {topic} for a reader with one minute',
    expectedOutput: 'A brief with a title, three to five points, and its length and reading time',
    agent: agent({
      role: 'Editor',
      goal: 'Say what matters in few words, using only what the notes contain',
      tools: [measureText],
    }),
    context: [theorist, practitioner],
    maxIterations: 6,
    review: { prompt: 'Publish this brief?', timeoutMs: REVIEW_MS, onTimeout: 'EXIT_EARLY' },
  })
  return ensemble({
    name: 'reviewed-briefing',
    description: 'Two parallel researchers, an editor, and a person who decides what is published',
    tasks: [theorist, practitioner, editor],
    workflow: 'PARALLEL',
    model,
  })
}
