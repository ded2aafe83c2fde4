/** The second sample: two researchers at the same time, a writer, and a person who decides what is published. */
import { agent, ensemble, task, type ChatModel, type Ensemble } from '@tutti/ensemble'

import { measureText, readArticle, searchLibrary } from './library-tools.ts'

/** How long the review waits for a person. */
const REVIEW_MS = 60 * 60 * 1_000

/** Makes the ensemble over `model`. */
export function reviewedEnsemble(model: ChatModel): Ensemble {
  const expectedOutput = 'Notes: one finding a line, each starting with "- "'
  const theorist = task({
    name: 'theorist',
    description: 'Research the goals of {topic} in the library: what it is after, and why',
    expectedOutput,
    agent: agent({
      role: 'Theorist',
      goal: 'Find what is aimed at, and by whom',
      tools: [searchLibrary, readArticle],
    }),
    maxIterations: 8,
  })
  const practitioner = task({
    name: 'practitioner',
    description: 'Research the practice of {topic} in the library: what people do all day',
    expectedOutput,
    agent: agent({
      role: 'Practitioner',
      goal: 'Find what is really done',
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
      goal: 'Say what matters in few words, adding nothing that the notes do not hold',
      tools: [measureText],
    }),
    context: [theorist, practitioner],
    maxIterations: 6,
    review: { prompt: 'Publish this brief?', timeoutMs: REVIEW_MS, onTimeout: 'EXIT_EARLY' },
  })
  return ensemble({
    name: 'reviewed-briefing',
    description: 'Two researchers at once, an editor, and a person who decides what is published',
    tasks: [theorist, practitioner, editor],
    workflow: 'PARALLEL',
    model,
  })
}
