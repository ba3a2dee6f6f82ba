/** Certificates, trust anchors, revocation lists, enrolment and project documents. */
@NullMarked
package org.cloister.protocol.identity;

import org.jspecify.annotations.NullMarked;
