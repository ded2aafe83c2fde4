/** The library that the sample ensembles search: short articles, written for them. */

/** An article of the library. */
export interface Article {
  readonly id: string
  readonly title: string
  readonly text: string
}

/** All articles. */
export const LIBRARY: readonly Article[] = [
  {
    id: 'ai-safety-goals',
    title: 'The goals of AI safety',
    text:
      'AI safety asks how to make a capable system do what people want, and nothing that they would regret. ' +
      'Its questions are old engineering questions: what is specified, what is measured, and what happens when both are wrong. ' +
      'A model that is trained on a measure learns the measure, so a gap between the measure and the intention becomes behavior. ' +
      'Most practical work therefore goes into better tests, into watching systems in use, and into keeping a person able to stop them.',
  },
  {
    id: 'ai-safety-practice',
    title: 'AI safety in daily practice',
    text:
      'Teams that ship language models test them with adversarial prompts before each release and keep the prompts that worked. ' +
      'Tools that change something outside the model get the narrowest permission that does the job, and a person approves the rest. ' +
      'Logs hold every model call and every tool call, because an incident that cannot be replayed cannot be learned from. ' +
      'A budget in money and in time is a safety measure too: it bounds what a mistake can cost.',
  },
  {
    id: 'eu-ai-act',
    title: 'The EU AI Act in one page',
    text:
      'The EU AI Act sorts AI systems by risk: some uses are forbidden, some are high-risk and regulated, most are free. ' +
      'High-risk systems, such as those that decide on jobs or credit, need risk management, logging and human oversight. ' +
      'Providers of general models must document training and capabilities, and the largest must assess systemic risk. ' +
      'The rules come into force in steps over several years, and fines follow the size of the company.',
  },
  {
    id: 'agents',
    title: 'What makes a program an agent',
    text:
      'An agent is a loop: a model reads a conversation, asks for tools, reads their results, and continues until it answers. ' +
      'What separates a useful agent from a toy is rarely the model and mostly the tools: clear names, typed inputs, honest errors. ' +
      'An agent that learns exactly why a call failed usually corrects itself in the next turn. ' +
      'Several agents with one job each are easier to test than one agent with every job.',
  },
  {
    id: 'durable-execution',
    title: 'Durable execution',
    text:
      'A durable program records each step before it continues, so that another process can take over after a crash. ' +
      'The price is one synced write per step, which is small compared with a model call that takes seconds. ' +
      'Completed steps are never repeated; the one step that was in flight may be, so it needs an idempotency key. ' +
      'A lease says which process owns a run, and a fencing token rejects the writes of an owner that was only asleep.',
  },
  {
    id: 'event-logs',
    title: 'Event logs and replay',
    text:
      'A log with gapless numbers lets a reader leave and return: it names the last number that it saw, and misses no event. ' +
      'Live delivery and replay should read the same log at two positions, or they will disagree. ' +
      'Text that streams is joined into larger pieces before it is stored, which saves most of the rows. ' +
      'A slow reader must never slow the writer; it reads from the log at its own pace.',
  },
  {
    id: 'human-review',
    title: 'People in the loop',
    text:
      'A review stops a run until a person has checked what it is about to do or has done. ' +
      'Good reviews show what changed, how much time is left, and what happens without a decision. ' +
      'Written feedback is worth more than a yes or no: the task runs again and knows why. ' +
      'Reviewers approve unread what they see too often, so each review has to earn its cost.',
  },
  {
    id: 'orchestra',
    title: 'How an orchestra keeps together',
    text:
      'In a full score the word tutti calls every player in; until then most of them count rests. ' +
      'A conductor gives few signals during a performance: tempo, balance, and the moments where the piece turns. ' +
      'Sections listen to their neighbors more than they watch the podium, so order comes from the parts as much as from the whole. ' +
      'Rehearsal is where mistakes are cheap, which is why it takes most of the time.',
  },
  {
    id: 'chamber-music',
    title: 'Chamber music and small teams',
    text:
      'A string quartet has no conductor; breathing and bowing carry the signals. ' +
      'Four players who know the whole score can recover from a wrong entry within a bar. ' +
      'The size matters: nine players need a leader, while among four anyone can lead. ' +
      'Small teams of agents behave alike: a shared plan replaces most of the messages.',
  },
  {
    id: 'climate-models',
    title: 'How climate models are built',
    text:
      'A climate model divides the planet into cells and moves heat, water and air between them step by step. ' +
      'Anything smaller than a cell, such as a cloud, is described by a rule that is fitted to observations. ' +
      'Ensembles of runs with slightly different starts show which results are robust and which are chance. ' +
      'Models are judged by how well they repeat the past century before anyone trusts them with the next.',
  },
  {
    id: 'city-heat',
    title: 'Heat in cities',
    text:
      'Cities are warmer than the land around them because stone and asphalt store heat and little water evaporates. ' +
      'Trees in streets lower the temperature of the air by one to three degrees on a hot afternoon. ' +
      'Light roofs reflect sunlight and cost little more than dark ones when a roof is renewed anyway. ' +
      'Heat plans that assign visitors to vulnerable people save more lives than any single building measure.',
  },
  {
    id: 'batteries',
    title: 'Batteries for the grid',
    text:
      'Grid batteries move electricity by hours, from the sun of noon to the demand of the evening. ' +
      'Lithium iron phosphate cells have become the standard because they last long and use no cobalt. ' +
      'A battery earns its keep by several services at once: peak shifting, reserve, and keeping the frequency. ' +
      'For storage over weeks other means are cheaper, such as water, heat or hydrogen.',
  },
]
