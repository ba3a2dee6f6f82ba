/** Opens, unlocks, closes and queries a project's controlling VM. */
@NullMarked
package org.cloister.ctl.opening;

import org.jspecify.annotations.NullMarked;
