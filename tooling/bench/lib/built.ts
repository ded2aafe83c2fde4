/**
 * Imports a package in its published form, by the name of its folder. The type argument is the type of its
 * sources: the build has the same entry points.
 */
export async function builtPackage<T>(name: string): Promise<T> {
  const entryPoint = new URL(`../../../packages/${name}/dist/index.js`, import.meta.url)
  // NOTE: the build of a package has the entry points of its sources.
  return (await import(entryPoint.href)) as T
}
