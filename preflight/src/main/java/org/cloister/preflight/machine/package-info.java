/** The machine that this runs on, as far as it is looked at: files, programs, environment. Changes nothing. */
@NullMarked
package org.cloister.preflight.machine;

import org.jspecify.annotations.NullMarked;
