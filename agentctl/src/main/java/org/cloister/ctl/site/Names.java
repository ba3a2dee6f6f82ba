package org.cloister.ctl.site;

import org.cloister.protocol.MalformedException;
import org.cloister.protocol.StrictJson;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;

/** Names of hosts and relays from what was typed. */
final class Names {
    private Names() {}

    static Name ofSite(String id, Role role) throws MalformedException {
        if (!role.isEnrolled()) {
            throw new MalformedException("--role: want host or relay, have " + role);
        }
        if (!Name.isLabel(id)) {
            throw new MalformedException(
                    "id: want a-z, 0-9 and -, at most 63 characters, have " + StrictJson.quoted(id));
        }
        return new Name(id, role.toString(), Name.SITE);
    }
}
