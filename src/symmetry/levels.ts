/** How the family-wise level of a whole investigation is shared out. Every test that may accuse by chance is here, and the shares add up to the level: no test is free. */

/** The chance that an investigation of equal agents in a fair game accuses anything at all. */
export const familyLevel = 0.001;

export const shares = {
  views: 0.00005,
  pilot: 0.00005,
  trend: 0.0001,
  page: 0.0001,
  friedman: 0.0001,
  dealtSeats: 0.00005,
  dealtNames: 0.00005,
  learntSeats: 0.00005,
  learntNames: 0.00005,
  phenomenonPage: 0.0001,
  phenomenonFriedman: 0.0001,
  order: 0.00005,
  ladder: 0.00005,
  rotatedLearner: 0.00005,
  sharing: 0.00005,
} as const;

/** How surely an effect of the stated size is to be seen. */
export const wantedPower = 0.9;

/** The effect, relative to the mean return, that a stage must have been able to see before it calls anything clear. */
export const visibleShare = 0.1;

/** The difference, relative to the mean return, within which equality is claimed. */
export const equivalenceMargin = 0.01;

/** The chance of claiming equality where the difference is the margin. */
export const equivalenceLevel = 0.001;
