/** A site with agent-host and the relay on the lab's machines. */
@NullMarked
package org.cloister.lab.site;

import org.jspecify.annotations.NullMarked;
