/** Profiles: what a device knows of the projects that its person joined, and the defaults of options from them. */
@NullMarked
package org.cloister.ctl.profile;

import org.jspecify.annotations.NullMarked;
