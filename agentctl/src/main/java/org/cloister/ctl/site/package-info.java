/** agentctl site: the site's CA, enrolment, approval and revocation. */
@NullMarked
package org.cloister.ctl.site;

import org.jspecify.annotations.NullMarked;
