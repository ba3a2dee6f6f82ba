/** {@code agentctl site}: a site's CA, which hosts, relays and projects it knows. */
@NullMarked
package org.cloister.ctl.site;

import org.jspecify.annotations.NullMarked;
