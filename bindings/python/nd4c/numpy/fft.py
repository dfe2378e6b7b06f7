"""numpy.fft over nd4c's arrays: the functions of nd4c.fft, which have NumPy's meaning."""
from nd4c.fft import (
    fft, fft2, fftfreq, fftn, fftshift, hfft, ifft, ifft2, ifftn, ifftshift, ihfft, irfft, irfft2, irfftn, rfft, rfft2,
    rfftfreq, rfftn)
from nd4c.fft import __all__ as __all__
