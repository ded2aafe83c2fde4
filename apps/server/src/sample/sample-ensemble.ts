/** The first sample: a researcher who uses tools, and a writer who builds on the findings. */
import { agent, ensemble, task, type Ensemble } from '@tutti/ensemble'
import type { ChatModel } from '@tutti/ensemble/adapter'

import { measureText, readArticle, searchLibrary } from './library-tools.ts'

/** Creates the ensemble with `model`. */
export function sampleEnsemble(model: ChatModel): Ensemble {
  const researcher = task({
    name: 'researcher',
    description:
      'Research {topic} in the library: search it, read the best articles, and note what matters',
    expectedOutput: 'Notes on {topic}: one finding per line, each starting with "- "',
    agent: agent({
      role: 'Researcher',
      goal: 'Find what the library says about a topic, and report when it says nothing',
      tools: [searchLibrary, readArticle],
    }),
    maxIterations: 8,
  })
  const writer = task({
    name: 'writer',
    description: 'Write a short brief on {topic} for a reader with one minute',
    expectedOutput: 'A brief with a title, three to five points, and its length and reading time',
    agent: agent({
      role: 'Writer',
      goal: 'Say what matters in few words, using only what the notes contain',
      tools: [measureText],
    }),
    context: [researcher],
    maxIterations: 6,
  })
  return ensemble({
    name: 'briefing',
    description: 'Researches a topic in a small library and writes a one-minute brief',
    tasks: [researcher, writer],
    workflow: 'SEQUENTIAL',
    model,
  })
}
