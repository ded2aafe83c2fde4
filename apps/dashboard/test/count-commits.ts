/** Counts the commits of React, which reports them to its developer tools. */
export const COUNT_COMMITS = `
  globalThis.commits = 0
  globalThis.__REACT_DEVTOOLS_GLOBAL_HOOK__ = {
    supportsFiber: true,
    inject: () => 1,
    onCommitFiberRoot: () => { commits += 1 },
    onCommitFiberUnmount: () => undefined,
  }`
