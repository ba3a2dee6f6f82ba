/** Programs that the lab puts into a guest and runs there. */
@NullMarked
package org.cloister.lab.guest;

import org.jspecify.annotations.NullMarked;
