/**
 * Measures how long the type checker takes for a user's file of thirty typed tools, five pipelines and five ensembles, in
 * addition to an empty project with the same settings: those of a new project. Projects take turns; results are medians
 * of new processes. The packages are imported in their published form.
 */
import { sized } from './lib/form.ts'
import { median } from './lib/measure.ts'
import { formatNumber, printClaim, printTable } from './lib/report.ts'
import { checkProject, COMPILERS, compilerVersion, type CheckedProject } from './lib/type-check.ts'

const ROUNDS = sized(7, 1, 3)

/** Limit of the additional time, in milliseconds. */
const LIMIT_MS = 1_000

const PROJECTS = ['empty', 'tools'] as const satisfies readonly CheckedProject[]

const measured = COMPILERS.map((compiler) => {
  const times = { empty: [] as number[], tools: [] as number[] }
  let instantiations = 0
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const project of PROJECTS) {
      const check = checkProject(compiler, project)
      instantiations = check.instantiations
      // The first round reads the files into the cache of the system.
      if (round > 0) times[project].push(check.ms)
    }
  }
  return {
    version: compilerVersion(compiler),
    instantiations,
    empty: median(times.empty),
    tools: median(times.tools),
  }
})
printTable({
  title: 'Type checking of 30 typed tools, 5 pipelines and 5 ensembles',
  columns: ['TypeScript', 'empty project, ms', 'with the file, ms', 'more, ms', 'instantiations'],
  rows: measured.map(({ version, empty, tools, instantiations }) => [
    version,
    formatNumber(Math.round(empty)),
    formatNumber(Math.round(tools)),
    formatNumber(Math.round(tools - empty)),
    formatNumber(instantiations),
  ]),
})
for (const { version, empty, tools } of measured) {
  printClaim({
    text: `TypeScript ${version}: at most 1 s more than an empty project`,
    atMost: LIMIT_MS,
    measured: tools - empty,
    unit: ' ms',
  })
}
