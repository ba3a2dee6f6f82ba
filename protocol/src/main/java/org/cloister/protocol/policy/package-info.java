/** What a project's owners accept: their signed policy, and when another takes its place (docs/protocol.md, section 12). */
@NullMarked
package org.cloister.protocol.policy;

import org.jspecify.annotations.NullMarked;
