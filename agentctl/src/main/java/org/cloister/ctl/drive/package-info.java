/** Drive keys: options, sealing and locked memory. */
@NullMarked
package org.cloister.ctl.drive;

import org.jspecify.annotations.NullMarked;
