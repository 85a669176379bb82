/** Platforms that can be simulated. `callbacks` sends the callbacks of docs/callbacks.md. */
export const PLATFORM_NAMES = ['callbacks'] as const;
export type PlatformName = (typeof PLATFORM_NAMES)[number];
