/** Programs that run in guests. */
@NullMarked
package org.cloister.lab.guest;

import org.jspecify.annotations.NullMarked;
