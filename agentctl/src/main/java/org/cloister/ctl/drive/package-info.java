/** Keys of projects' drives, as an opener's device keeps and uses them: in locked memory, never on the Java heap. */
@NullMarked
package org.cloister.ctl.drive;

import org.jspecify.annotations.NullMarked;
