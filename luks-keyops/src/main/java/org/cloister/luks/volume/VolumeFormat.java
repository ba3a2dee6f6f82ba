package org.cloister.luks.volume;

/**
 * Parameters of a volume to create. The cipher is always aes-xts-plain64 with a key of 512 bits, the sector 4,096
 * bytes.
 *
 * @param label names the volume's owner, so that the volume can be found: 1 to 47 of {@code A-Z a-z 0-9 . _ : / -}
 */
public record VolumeFormat(String label, VolumeIntegrity integrity) {
    private static final String LABEL = "[A-Za-z0-9._:/-]{1,47}";

    public VolumeFormat {
        if (!label.matches(LABEL)) {
            throw new IllegalArgumentException("label: want " + LABEL + ", have \"" + label + "\"");
        }
    }

    public static VolumeFormat labelled(String label) {
        return new VolumeFormat(label, VolumeIntegrity.NONE);
    }

    public VolumeFormat withIntegrity(VolumeIntegrity other) {
        return new VolumeFormat(label, other);
    }
}
