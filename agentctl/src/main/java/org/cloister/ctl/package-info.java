/** The root command, exit codes and error output. */
@NullMarked
package org.cloister.ctl;

import org.jspecify.annotations.NullMarked;
