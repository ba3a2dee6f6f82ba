package org.cloister.ctl.site;

import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;

/** Parses the names of hosts and relays from the command line. */
final class SiteNames {
    private SiteNames() {}

    static CertificateName parse(String id, CertificateRole role) throws MalformedException {
        if (!role.isEnrolled()) {
            throw new MalformedException("--role: want host or relay, have " + role);
        }
        if (!CertificateName.isLabel(id)) {
            throw new MalformedException(
                    "id: want a-z, 0-9 and -, at most 63 characters, have " + StrictJson.quoted(id));
        }
        return new CertificateName(id, role.toString(), CertificateName.SITE);
    }
}
