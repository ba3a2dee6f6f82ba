/** agentctl image: manifests, files of images, and the running image's layers. */
@NullMarked
package org.cloister.ctl.image;

import org.jspecify.annotations.NullMarked;
