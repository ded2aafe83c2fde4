/**
 * Configures StrykerJS for `npm run mutants`. It changes the sources in place, because a copy of the workspace would
 * resolve packages to the originals, and restores them at the end, also when it is stopped.
 */
// oxlint-disable-next-line import/no-default-export -- StrykerJS reads the default export
export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  inPlace: true,
  coverageAnalysis: 'perTest',
  vitest: { configFile: 'tooling/mutants/vitest.config.ts', related: true },
  reporters: ['progress-append-only', 'clear-text'],
  clearTextReporter: { reportTests: false, logTests: false },
  tempDirName: 'node_modules/.cache/stryker',
}
