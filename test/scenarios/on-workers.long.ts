import { tellAll } from './stories.js';

// A start with workers takes many times as long as one without.
tellAll(2);
