/** Guests for benches. */
@NullMarked
package org.cloister.lab.vm;

import org.jspecify.annotations.NullMarked;
