/** One job from its submission until nothing is left of it, of a project of ours and of a bare twin, which does the same by hand. */
@NullMarked
package org.cloister.lab.twin;

import org.jspecify.annotations.NullMarked;
