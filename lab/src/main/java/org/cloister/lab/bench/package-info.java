/** Benches and their figures. */
@NullMarked
package org.cloister.lab.bench;

import org.jspecify.annotations.NullMarked;
