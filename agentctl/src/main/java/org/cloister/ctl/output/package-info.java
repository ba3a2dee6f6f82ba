/** Tables, key-value lists and JSON of all commands. */
@NullMarked
package org.cloister.ctl.output;

import org.jspecify.annotations.NullMarked;
